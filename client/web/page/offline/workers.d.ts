// What the page's workers use of their surroundings, which the types of a page do not have.

interface ExtendableEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}

interface FetchEvent extends ExtendableEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

interface ServiceWorkerGlobalScope {
  addEventListener(type: 'install' | 'activate', hear: (event: ExtendableEvent) => void): void;
  addEventListener(type: 'fetch', hear: (event: FetchEvent) => void): void;
  skipWaiting(): Promise<void>;
}

interface DedicatedWorkerGlobalScope {
  onmessage: ((event: { data: any }) => void) | null;
  postMessage(message: unknown): void;
}

// The build puts it in.
declare const KEPT_FILES: string[];
