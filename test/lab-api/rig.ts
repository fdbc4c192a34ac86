// A lab API server with the stock kubectl pointed at it, HOME in a folder of its own.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServer, type ApiServerOptions, createApiServer } from '../../src/lab/api/api-server.ts';
import { type Cidr, parseCidr } from '../../src/model/address.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Kubectl {
  /** Runs to the end. */
  run(args: readonly string[], options?: RunOptions): Promise<Ran>;
  /** Standard output of a run that must end with 0. */
  ok(args: readonly string[], options?: RunOptions): Promise<string>;
  /** Standard error of a run that must not. */
  fails(args: readonly string[], options?: RunOptions): Promise<string>;
  /** Runs until `enough` says so of what it printed so far, then ends it; what it printed comes back. */
  until(args: readonly string[], enough: (stdout: string) => boolean): Promise<string>;
}

export interface Rig extends AsyncDisposable {
  readonly server: ApiServer;
  readonly url: string;
  readonly folder: string;
  readonly kubectl: Kubectl;
  /** Writes a file into the rig's folder; its path comes back. */
  file(name: string, text: string): string;
}

function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (parsed === undefined) throw new Error(`no CIDR: ${text}`);
  return parsed;
}

export const DUAL_STACK: readonly Cidr[] = [cidr('10.96.0.0/12'), cidr('fd00:96::/108')];

const SCRIPT = join(import.meta.dirname, '..', '..', 'tools', 'kubectl.sh');
const DEADLINE_MS = 60_000;

function createKubectl(folder: string, kubeconfig: string): Kubectl {
  const start = (args: readonly string[], options: RunOptions) =>
    spawn('sh', [SCRIPT, ...args], {
      env: { PATH: process.env.PATH ?? '', HOME: folder, KUBECONFIG: kubeconfig, ...options.env },
      cwd: folder,
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: DEADLINE_MS,
    });
  const run = (args: readonly string[], options: RunOptions = {}): Promise<Ran> =>
    new Promise((resolve, reject) => {
      const child = start(args, options);
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (chunk) => {
        stdout += String(chunk);
      });
      child.stderr.on('data', (chunk) => {
        stderr += String(chunk);
      });
      child.stdin.on('error', () => undefined);
      child.stdin.end(options.stdin ?? '');
      child.once('error', reject);
      child.once('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
    });
  return {
    run,
    async ok(args, options) {
      const ran = await run(args, options);
      if (ran.code !== 0)
        throw new Error(`kubectl ${args.join(' ')}: exit ${ran.code}: ${ran.stderr}${ran.stdout}`);
      return ran.stdout;
    },
    async fails(args, options) {
      const ran = await run(args, options);
      if (ran.code === 0) throw new Error(`kubectl ${args.join(' ')} did not fail: ${ran.stdout}`);
      return ran.stderr;
    },
    until: (args, enough) =>
      new Promise((resolve, reject) => {
        const child = start(args, {});
        let stdout = '';
        child.stdout.on('data', (chunk) => {
          stdout += String(chunk);
          if (enough(stdout)) child.kill();
        });
        child.once('error', reject);
        child.once('close', () =>
          enough(stdout)
            ? resolve(stdout)
            : reject(new Error(`kubectl ${args.join(' ')} ended with: ${stdout}`)),
        );
      }),
  };
}

export async function createRig(options: Partial<ApiServerOptions> = {}): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), `pt-${process.pid}-api-`));
  const server = createApiServer({ serviceCidrs: DUAL_STACK, ...options });
  const { port } = await server.listen('127.0.0.1', 0);
  const url = `https://127.0.0.1:${port}`;
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  return {
    server,
    url,
    folder,
    file,
    kubectl: createKubectl(folder, file('kubeconfig', server.kubeconfig(url))),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A table as kubectl prints it: one record per row, keyed by the headings. */
export function rowsOf(text: string): readonly Readonly<Record<string, string>>[] {
  const [head = '', ...lines] = text.trimEnd().split('\n');
  const headings = [...head.matchAll(/\S+(?: \S+)*/g)].map((match) => ({ name: match[0], at: match.index }));
  return lines.map((line) =>
    Object.fromEntries(
      headings.map(({ name, at }, index) => [name, line.slice(at, headings[index + 1]?.at).trim()]),
    ),
  );
}
