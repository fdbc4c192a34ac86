// /debug on the metrics port, with --profiling: profiles of this process, and how much it logs (behaviour spec 6.3).
import type { HttpAnswer, HttpRoutes } from './http-server.ts';

const PLAIN = 'text/plain; charset=utf-8';
const LONGEST_SECONDS = 300;
const STANDARD_SECONDS = 30;

const INDEX = `profile?seconds=30   CPU profile, for Chrome DevTools or speedscope (.cpuprofile)
heap                 heap snapshot, for Chrome DevTools (.heapsnapshot); the process stands still meanwhile
`;

export interface ProfileOptions {
  readonly verbosity: () => number;
  readonly setVerbosity: (verbosity: number) => void;
}

export function profileRoutes({ verbosity, setVerbosity }: ProfileOptions): HttpRoutes {
  const plain = (status: number, body: string): HttpAnswer => ({ status, contentType: PLAIN, body });
  let busy = false;
  /** One at a time: two would measure each other. */
  const alone = async (work: () => Promise<HttpAnswer>): Promise<HttpAnswer> => {
    if (busy) return plain(409, 'another profile is being taken\n');
    busy = true;
    try {
      return await work();
    } finally {
      busy = false;
    }
  };
  return async (path, request) => {
    switch (path) {
      case '/debug/pprof':
      case '/debug/pprof/':
        return plain(200, INDEX);
      case '/debug/pprof/profile': {
        const seconds = Number(request.query.get('seconds') ?? STANDARD_SECONDS);
        if (!(seconds > 0 && seconds <= LONGEST_SECONDS))
          return plain(400, `seconds must be above 0, and ${LONGEST_SECONDS} at most\n`);
        return alone(() => cpuProfile(seconds));
      }
      case '/debug/pprof/heap':
        return alone(heapSnapshot);
      case '/debug/flags':
      case '/debug/flags/':
        return plain(200, `v=${verbosity()}\n`);
      case '/debug/flags/v': {
        if (request.method !== 'PUT') return plain(405, 'PUT a number to set the verbosity of the log\n');
        const text = (await request.body()).trim();
        if (!/^\d{1,9}$/.test(text)) return plain(400, `${JSON.stringify(text)} is no whole number\n`);
        setVerbosity(Number(text));
        return plain(200, `successfully set klog.logging.verbosity to ${text}`);
      }
      default:
        return undefined;
    }
  };
}

async function cpuProfile(seconds: number): Promise<HttpAnswer> {
  // Large, and rarely needed.
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const { profile } = await session.post('Profiler.stop');
    return download('application/json', JSON.stringify(profile), 'pointsman.cpuprofile');
  } finally {
    session.disconnect();
  }
}

async function heapSnapshot(): Promise<HttpAnswer> {
  const { getHeapSnapshot } = await import('node:v8');
  const { text } = await import('node:stream/consumers');
  return download('application/json', await text(getHeapSnapshot()), 'pointsman.heapsnapshot');
}

function download(contentType: string, body: string, name: string): HttpAnswer {
  return {
    status: 200,
    contentType,
    body,
    headers: { 'Content-Disposition': `attachment; filename="${name}"` },
  };
}
