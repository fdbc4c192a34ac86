// Credential plugins: a program prints an ExecCredential (client.authentication.k8s.io/v1 and v1beta1).
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
import { spawn } from 'node:child_process';
import * as v from 'valibot';
import { PointsmanError } from '../base/errors.ts';
import type { PluginCredential, PluginSource } from './credentials.ts';
import { checkPair } from './pem.ts';

/** A plugin that asks for a password in the background would hang the daemon for ever. */
const PLUGIN_TIMEOUT_MS = 60_000;
const MAX_OUTPUT = 1 << 20;

export interface ExecPluginOptions {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1';
  /** A name on PATH, or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** The plugin's whole environment but for KUBERNETES_EXEC_INFO. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `Never`, `IfAvailable` or `Always`, as in the kubeconfig. */
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  /** Whether the plugin may have our standard input. */
  readonly stdinIsTerminal: boolean;
  /** Given to the plugin if it asked for it with provideClusterInfo. */
  readonly cluster?: () => Promise<Readonly<Record<string, unknown>>>;
  readonly installHint?: string;
  /** What names the plugin's place in messages. */
  readonly what: string;
  readonly timeoutMs?: number;
  readonly now?: () => number;
}

const ExecCredential = v.looseObject({
  apiVersion: v.string(),
  kind: v.literal('ExecCredential'),
  status: v.looseObject({
    token: v.nullish(v.string()),
    clientCertificateData: v.nullish(v.string()),
    clientKeyData: v.nullish(v.string()),
    expirationTimestamp: v.nullish(v.pipe(v.string(), v.isoTimestamp())),
  }),
});

/** Runs the plugin when there is no credential, when it expired and after a refusal; calls at once share one run. */
export function createExecPlugin(options: ExecPluginOptions): PluginSource {
  const { now = Date.now } = options;
  let held: { readonly credential: PluginCredential; readonly until: number } | undefined;
  let running: Promise<PluginCredential> | undefined;

  async function renew(): Promise<PluginCredential> {
    const { credential, until } = decode(await run(options), options);
    held = { credential, until };
    return credential;
  }

  return {
    credential() {
      if (held !== undefined && now() < held.until) return Promise.resolve(held.credential);
      running ??= renew().finally(() => {
        running = undefined;
      });
      return running;
    },
    refused() {
      held = undefined;
    },
  };
}

interface Renewed {
  readonly credential: PluginCredential;
  /** Milliseconds since the epoch; Infinity if it stays good until refused. */
  readonly until: number;
}

function decode(output: string, options: ExecPluginOptions): Renewed {
  let json: unknown;
  try {
    json = JSON.parse(output);
  } catch (cause) {
    throw failure(options, 'printed something that is no JSON', { cause });
  }
  const parsed = v.safeParse(ExecCredential, json);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    // The value may be a secret: only its place is named.
    throw failure(
      options,
      `printed an ExecCredential whose ${v.getDotPath(issue) ?? 'top'} is missing or wrong`,
    );
  }
  const { apiVersion, status } = parsed.output;
  if (apiVersion !== options.apiVersion) {
    throw failure(options, `answered in ${apiVersion}, the kubeconfig asks for ${options.apiVersion}`);
  }
  const { token, clientCertificateData: certificate, clientKeyData: key, expirationTimestamp } = status;
  if ((certificate == null) !== (key == null)) {
    throw failure(options, 'gave only one of clientCertificateData and clientKeyData');
  }
  if (!token && certificate == null) throw failure(options, 'gave neither a token nor a client certificate');
  if (certificate != null && key != null) {
    try {
      checkPair(certificate, key);
    } catch (cause) {
      throw failure(options, `gave an unusable ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
  }
  return {
    credential: {
      ...(token ? { token } : {}),
      ...(certificate != null && key != null ? { certificate: { certificate, key } } : {}),
    },
    until: expirationTimestamp == null ? Number.POSITIVE_INFINITY : Date.parse(expirationTimestamp),
  };
}

/** The plugin's standard output. */
async function run(options: ExecPluginOptions): Promise<string> {
  const {
    apiVersion,
    command,
    args,
    env,
    interactiveMode,
    stdinIsTerminal,
    timeoutMs = PLUGIN_TIMEOUT_MS,
  } = options;
  if (interactiveMode === 'Always' && !stdinIsTerminal) {
    throw failure(options, 'wants a terminal (interactiveMode Always) and there is none', {
      hint: 'use a plugin that works without a person, or a token or certificate',
    });
  }
  const interactive = stdinIsTerminal && interactiveMode !== 'Never';
  const cluster = await options.cluster?.();
  const spec = { ...(cluster === undefined ? {} : { cluster }), interactive };
  const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec });

  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], {
      env: { ...env, KUBERNETES_EXEC_INFO: info },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
    const out: Buffer[] = [];
    let size = 0;
    let complaint = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_OUTPUT) out.push(chunk);
      else child.kill('SIGKILL');
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-2000);
    });
    child.on('error', (cause) => {
      const missing = 'code' in cause && cause.code === 'ENOENT';
      reject(failure(options, missing ? 'was not found' : `cannot be run: ${cause.message}`, { cause }));
    });
    child.on('close', (code, signal) => {
      if (code === 0 && size <= MAX_OUTPUT) return resolve(Buffer.concat(out).toString('utf8'));
      const how =
        size > MAX_OUTPUT
          ? 'printed more than 1 MiB'
          : signal === null
            ? `ended with exit code ${code}`
            : `was killed by ${signal} (it may run ${timeoutMs / 1000} s)`;
      const said = complaint.trim().split('\n').slice(-3).join('; ');
      reject(failure(options, said === '' ? how : `${how}: ${said}`));
    });
  });
}

function failure(
  { what, command, installHint }: ExecPluginOptions,
  how: string,
  { hint = installHint, cause }: { readonly hint?: string | undefined; readonly cause?: unknown } = {},
): PointsmanError {
  return new PointsmanError('E_CREDENTIAL_PLUGIN', `${what}: credential plugin ${command} ${how}`, {
    ...(hint === undefined ? {} : { hint: hint.trim().replaceAll(/\s*\n\s*/g, ' ') }),
    ...(cause === undefined ? {} : { cause }),
  });
}
