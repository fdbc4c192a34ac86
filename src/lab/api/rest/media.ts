// What form of answer a client accepts: plain JSON, a Table, or metadata only.

export type Form = 'object' | 'table' | 'metadata';

interface Wish {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

function wishes(accept: string): readonly Wish[] {
  return accept.split(',').map((part) => {
    const [type = '', ...rest] = part.split(';').map((word) => word.trim());
    const parameters = rest.map((word): [string, string] => {
      const at = word.indexOf('=');
      return [word.slice(0, at), word.slice(at + 1)];
    });
    return { type: type.toLowerCase(), parameters: new Map(parameters) };
  });
}

const isJson = (type: string): boolean => ['application/json', 'application/*', '*/*', ''].includes(type);

/** The first acceptable form; undefined when there is none (406). `plural` is whether a list is asked for. */
export function acceptedForm(accept: string | undefined, plural: boolean): Form | undefined {
  for (const { type, parameters } of wishes(accept ?? '*/*')) {
    if (!isJson(type)) continue;
    const as = parameters.get('as');
    if (as === undefined) return 'object';
    if (parameters.get('g') !== 'meta.k8s.io' || parameters.get('v') !== 'v1') continue;
    if (as === 'Table') return 'table';
    if (as === (plural ? 'PartialObjectMetadataList' : 'PartialObjectMetadata')) return 'metadata';
  }
  return undefined;
}

/** Whether a client asks for all of discovery in one document. */
export function wantsAggregatedDiscovery(accept: string | undefined): boolean {
  for (const { type, parameters } of wishes(accept ?? '*/*')) {
    if (!isJson(type)) continue;
    if (parameters.get('as') === undefined) return false;
    if (parameters.get('g') === 'apidiscovery.k8s.io' && parameters.get('v') === 'v2') return true;
  }
  return false;
}

/** A content type without its parameters. */
export function mediaType(header: string | undefined): string | undefined {
  const type = header?.split(';')[0]?.trim().toLowerCase();
  return type === '' ? undefined : type;
}
