// `pointsman [flags]`: runs the proxy until it is told to end.
import { hostname } from 'node:os';
import type { FlagValues } from '../config/flag-values.ts';
import { type GivenFlag, parseFlags } from '../config/parse-flags.ts';
import { proxyConfig } from '../config/proxy-config.ts';
import { endOnSignals } from './end-on-signals.ts';
import { EXIT_ERROR, EXIT_FINE, printError, type Terminal } from './terminal.ts';
import { ownVersion, versionText } from './version.ts';

/** Resolves with the exit code. What is wrong with flags is 1 here, as in kube-proxy (behaviour spec 1.1). */
export async function runProxyCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  let details = false;
  try {
    const request = parseFlags(args);
    switch (request.kind) {
      case 'help': {
        const { overview } = await import('./commands.ts');
        terminal.out(overview());
        return EXIT_FINE;
      }
      case 'version':
        terminal.out(versionText(ownVersion(), request.raw));
        return EXIT_FINE;
      case 'run':
        details = request.values.verbosity > 0;
        await runProxy(request.values, request.given, terminal);
        return EXIT_FINE;
    }
  } catch (error) {
    printError(terminal, error, details);
    return EXIT_ERROR;
  }
}

async function runProxy(values: FlagValues, given: readonly GivenFlag[], { env }: Terminal): Promise<void> {
  const config = proxyConfig(values, hostname());
  // Only now is it worth loading what the proxy is made of.
  const { createLog, standardError } = await import('../observe/log.ts');
  const { runDaemon } = await import('../proxy/daemon.ts');
  const { openNftables } = await import('../proxy/open-nftables.ts');
  const log = createLog({
    ...config.logging,
    pid: process.pid,
    now: () => new Date(),
    write: standardError(),
  });
  for (const { name, text } of given) log.room('flags').debug(1, `FLAG: --${name}=${JSON.stringify(text)}`);
  using ending = endOnSignals();
  await runDaemon({
    config,
    version: ownVersion(),
    env,
    log,
    openDataPath: openNftables,
    signal: ending.signal,
  });
}
