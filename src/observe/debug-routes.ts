// /configz, /statusz and /flagz, as components of Kubernetes have them (behaviour spec 6.3).
import type { HttpAnswer, HttpRequest, HttpRoutes } from './http-server.ts';

export interface DebugFacts {
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly now: () => number;
  /** The configuration in force, as a KubeProxyConfiguration document. */
  readonly configuration: Readonly<Record<string, unknown>>;
  /** Every flag with its value. */
  readonly flags: Readonly<Record<string, string>>;
  /** Feature gates ComponentStatusz and ComponentFlagz. */
  readonly statusz: boolean;
  readonly flagz: boolean;
  /** Paths of this server, for /statusz. */
  readonly paths: readonly string[];
}

const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';
const PLAIN = 'text/plain; charset=utf-8';
/** We are a drop-in for this version. */
const EMULATED = '1.36';

export function debugRoutes(facts: DebugFacts): HttpRoutes {
  return (path, request) => {
    switch (path) {
      case '/configz':
        return json({ 'kubeproxy.config.k8s.io': facts.configuration });
      case '/statusz':
        return facts.statusz ? statusz(facts, request) : undefined;
      case '/flagz':
        return facts.flagz ? flagz(facts, request) : undefined;
      default:
        return undefined;
    }
  };
}

const json = (body: unknown): HttpAnswer => ({
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

/** What the Accept header asks for; upstream's structured form is under its own version. */
function structured({ headers }: HttpRequest, kind: string): 'text' | 'json' | 'neither' {
  const accept = String(headers.accept ?? '');
  const wanted = accept.split(',').map((item) => item.trim());
  if (accept === '' || wanted.some((item) => item.startsWith('*/*') || item.startsWith('text/')))
    return 'text';
  const versioned = wanted.some(
    (item) => item.startsWith('application/json') && (item.includes(`as=${kind}`) || !item.includes('as=')),
  );
  return versioned ? 'json' : 'neither';
}

function notAcceptable(): HttpAnswer {
  return { status: 406, contentType: PLAIN, body: 'only text/plain and application/json are served\n' };
}

function statusz(facts: DebugFacts, request: HttpRequest): HttpAnswer {
  const started = new Date(facts.startedAt);
  const upSeconds = Math.floor((facts.now() - facts.startedAt) / 1000);
  switch (structured(request, 'Statusz')) {
    case 'json':
      return json({
        kind: 'Statusz',
        apiVersion: 'config.k8s.io/v1alpha1',
        metadata: { name: 'kube-proxy' },
        startTime: started.toISOString(),
        uptimeSeconds: upSeconds,
        nodeVersion: process.version,
        binaryVersion: facts.version,
        emulationVersion: EMULATED,
        paths: facts.paths,
      });
    case 'text':
      return {
        status: 200,
        contentType: PLAIN,
        body: [
          'kube-proxy statusz',
          WARNING,
          '',
          `Started: ${started.toUTCString()}`,
          `Up: ${Math.floor(upSeconds / 3600)} hr ${Math.floor((upSeconds % 3600) / 60)} min ${upSeconds % 60} sec`,
          `Node.js version: ${process.version}`,
          `Binary version: Pointsman ${facts.version}`,
          `Emulation version: ${EMULATED}`,
          `Paths: ${facts.paths.join(' ')}`,
          '',
        ].join('\n'),
      };
    case 'neither':
      return notAcceptable();
  }
}

function flagz({ flags }: DebugFacts, request: HttpRequest): HttpAnswer {
  switch (structured(request, 'Flagz')) {
    case 'json':
      return json({
        kind: 'Flagz',
        apiVersion: 'config.k8s.io/v1alpha1',
        metadata: { name: 'kube-proxy' },
        flags,
      });
    case 'text':
      return {
        status: 200,
        contentType: PLAIN,
        body: [
          'kube-proxy flagz',
          WARNING,
          '',
          ...Object.entries(flags).map(([name, value]) => `${name}=${value}`),
          '',
        ].join('\n'),
      };
    case 'neither':
      return notAcceptable();
  }
}
