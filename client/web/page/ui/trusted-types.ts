// The page's only Trusted Types policy. It allows worker scripts from the page's own origin.

export interface TrustedTypesPolicy {
  createScriptURL: (url: string) => string;
}

const policy: TrustedTypesPolicy | undefined = (globalThis as any).trustedTypes?.createPolicy(
  'plyhouse',
  {
    createScriptURL: (url: string) => {
      if (new URL(url).origin !== location.origin) throw new TypeError(url);
      return url;
    },
  },
);

/** Converts the URL of a worker script of this origin. */
export const trustedScriptUrl = ({ href }: URL) => policy?.createScriptURL(href) ?? href;
