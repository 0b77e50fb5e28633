// Which scripts the page runs beside its modules: its own, and no others. Where the browser asks for a promise
// (Trusted Types), this is the one place that gives it.

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

/** A script of this origin, as workers are made of. */
export const trustedScriptUrl = ({ href }: URL) => policy?.createScriptURL(href) ?? href;
