// Types of the worker globals that TypeScript's DOM library does not declare.

interface ExtendableEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}

interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

interface ServiceWorkerGlobalScope {
  addEventListener(type: 'install' | 'activate', listener: (event: ExtendableEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
  skipWaiting(): Promise<void>;
}

interface DedicatedWorkerGlobalScope {
  onmessage: ((event: { data: any }) => void) | null;
  postMessage(message: unknown): void;
}

// The build inserts the value.
declare const KEPT_FILES: string[];
