// Just enough of HTTP/1.1 for the lab's client: responses with a Content-Length, one after the other.

export type ParsedResponse =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'response'; readonly status: number; readonly body: string; readonly rest: string };

const END_OF_HEAD = '\r\n\r\n';

/** Reads one response from the beginning of `text` (latin1); `rest` is what follows it. */
export function parseResponse(text: string): ParsedResponse {
  const end = text.indexOf(END_OF_HEAD);
  if (end < 0) return 'HTTP/'.startsWith(text.slice(0, 5)) ? { kind: 'incomplete' } : { kind: 'malformed' };
  const head = text.slice(0, end);
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
  const length = /\r\ncontent-length: *(\d+)(\r\n|$)/i.exec(head)?.[1];
  if (status === undefined || length === undefined) return { kind: 'malformed' };
  const start = end + END_OF_HEAD.length;
  const stop = start + Number(length);
  if (text.length < stop) return { kind: 'incomplete' };
  return { kind: 'response', status: Number(status), body: text.slice(start, stop), rest: text.slice(stop) };
}

/** A GET that leaves the connection open. */
export function requestText(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: lab\r\n\r\n`;
}
