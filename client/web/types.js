// Generates the TypeScript types of the wire protocol from its JSON Schemas. `npm run --prefix
// client/web types` writes them to `page/net/generated`.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { compile } from 'json-schema-to-typescript';

/** @typedef {Record<string, any>} Schema */

const here = dirname(fileURLToPath(import.meta.url));
const schemas = join(here, '../../src/protocol/schema');
const generated = join(here, 'page/net/generated');
/** Enums that a later server may extend within the same protocol version. */
const OPEN_ENUMS = [
  ...['ChatPreset', 'EndReason', 'ErrorCode', 'FindingKind', 'MistakeKind', 'UnratedReason'],
];
/** Keywords that mean the same in draft 07. */
const UNCHANGED = [
  ...['title', 'description', 'type', 'const', 'format', 'required', 'additionalProperties'],
  ...['minimum', 'maximum', 'minItems', 'maxItems', 'maxLength'],
];
/** Keywords that the types do not depend on. */
const DROPPED = ['$schema', 'default'];

/** @param {string} file @param {string} title the name of the generated type */
async function generateTypes(file, title) {
  const schema = toDraft07(JSON.parse(await readFile(join(schemas, file), 'utf8')));
  const options = { additionalProperties: false, maxItems: 2, bannerComment: '' };
  return compile({ ...schema, title }, title, options);
}

/**
 * Converts a schema of draft 2020-12 to draft 07, because json-schema-to-typescript ignores the
 * keywords beside a `$ref` of the newer draft.
 * @param {Schema} schema
 * @returns {Schema}
 */
function toDraft07(schema) {
  if (schema.properties && (schema.oneOf || schema.anyOf)) return toDraft07(distribute(schema));
  /** @type {Schema} */
  const converted = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (UNCHANGED.includes(keyword)) converted[keyword] = value;
    else if (keyword === '$defs') converted.definitions = mapValues(value, toDefinition);
    else if (keyword === '$ref')
      converted.allOf = [{ $ref: value.replace('$defs', 'definitions') }];
    else if (keyword === 'properties') converted.properties = toProperties(schema);
    else if (keyword === 'items') converted.items = toDraft07(value);
    else if (keyword === 'prefixItems') converted.items = value.map(toDraft07);
    else if (['anyOf', 'oneOf'].includes(keyword)) converted[keyword] = value.map(toDraft07);
    else if (!DROPPED.includes(keyword)) throw new Error(`unknown keyword ${keyword}`);
  }
  return converted;
}

/** Moves the properties beside a union to each variant. @param {Schema} schema */
function distribute({ type, properties, required = [], oneOf, anyOf, ...rest }) {
  const variants = (oneOf ?? anyOf).map((/** @type {Schema} */ variant) => ({
    ...{ ...variant, type },
    properties: { ...properties, ...variant.properties },
    required: [...required, ...(variant.required ?? [])],
  }));
  return { ...rest, oneOf: variants };
}

/** @param {Schema} schema @param {string} name */
function toDefinition(schema, name) {
  const isOpen = OPEN_ENUMS.includes(name);
  return toDraft07(isOpen ? { ...schema, oneOf: [...schema.oneOf, { type: 'string' }] } : schema);
}

/**
 * Converts the properties of an object. The server omits an optional property that has no value,
 * although the schema also allows `null`.
 * @param {Schema} schema
 */
const toProperties = ({ properties, required = [] }) =>
  mapValues(properties, (property, name) =>
    toDraft07(required.includes(name) ? property : withoutNull(property)),
  );

/** @param {Schema} schema @returns {Schema} */
function withoutNull({ ...schema }) {
  if (Array.isArray(schema.type)) schema.type = schema.type.filter((type) => type !== 'null');
  if (schema.anyOf) {
    schema.anyOf = schema.anyOf.filter((/** @type {Schema} */ { type }) => type !== 'null');
  }
  return schema;
}

/**
 * @param {Schema} object
 * @param {(value: Schema, key: string) => Schema} convert
 * @returns {Schema}
 */
const mapValues = (object, convert) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, convert(value, key)]));

await mkdir(generated, { recursive: true });
await writeFile(join(generated, 'messages.d.ts'), await generateTypes('server.json', 'Message'));
await writeFile(join(generated, 'requests.d.ts'), await generateTypes('client.json', 'Request'));
