// `pointsman [flags]`: runs the proxy until it is told to end.
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { PointsmanError } from '../base/errors.ts';
import { silentLogger } from '../base/log.ts';
import { configFileText } from '../config/config-file.ts';
import { FLAGS } from '../config/flag-table.ts';
import type { FlagValues } from '../config/flag-values.ts';
import { type GivenFlag, parseFlags } from '../config/parse-flags.ts';
import {
  checkConfiguration,
  nodeNameOf,
  ownOptions,
  type ProxyConfig,
  proxyConfig,
} from '../config/proxy-config.ts';
import { endOnSignals } from './end-on-signals.ts';
import { loadConfiguration } from './load-config.ts';
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
        return await runRequest(request.values, request.given, terminal);
    }
  } catch (error) {
    printError(terminal, error, details);
    return EXIT_ERROR;
  }
}

async function runRequest(
  values: FlagValues,
  given: readonly GivenFlag[],
  terminal: Terminal,
): Promise<number> {
  const host = hostname();
  const facts = { hostname: host, master: values.master, own: ownOptions(values) };
  const { configuration, lenient } = await loadConfiguration(values, given);
  nodeNameOf(configuration.hostnameOverride, host);
  checkConfiguration(configuration);
  if (values.writeConfigTo !== '') {
    await writeConfig(values.writeConfigTo, await configFileText(configuration));
    return EXIT_FINE;
  }
  if (values.cleanup) return cleanUp(terminal);
  const config = proxyConfig(configuration, facts);
  await runProxy(config, lenient, values, given, terminal);
  return EXIT_FINE;
}

/** Needs no API server; what it did is what it prints (behaviour spec 1.1, step 5). */
async function cleanUp({ env, out }: Terminal): Promise<number> {
  const { cleanUpLeftovers } = await import('../backends/leftovers/clean-up.ts');
  const { describeCleanup } = await import('../backends/leftovers/report.ts');
  // The report says all that a log would.
  const report = await cleanUpLeftovers({ what: 'all', log: silentLogger, path: env.PATH ?? '' });
  const { lines, exitCode } = describeCleanup(report);
  for (const line of lines) out(`${line}\n`);
  return exitCode;
}

async function writeConfig(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (cause) {
    throw new PointsmanError(
      'E_CONFIG',
      `cannot write the configuration to ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { hint: 'correct --write-config-to', cause },
    );
  }
}

async function runProxy(
  first: ProxyConfig,
  lenient: string | undefined,
  values: FlagValues,
  given: readonly GivenFlag[],
  { env }: Terminal,
): Promise<void> {
  // Only now is it worth loading what the proxy is made of.
  const { createLog, standardError } = await import('../observe/log.ts');
  const { runDaemon } = await import('../proxy/daemon.ts');
  const { openDataPath } = await import('../proxy/open-data-path.ts');
  const { nodeSettings } = await import('../proxy/node-settings.ts');
  const { runReloading } = await import('../proxy/reload.ts');
  const { watchConfigFile } = await import('../proxy/config-file-watch.ts');
  const write = standardError();
  const logOf = (config: ProxyConfig) =>
    createLog({ ...config.logging, pid: process.pid, now: () => new Date(), write });
  const log = logOf(first);
  for (const { name, text } of given) log.room('flags').debug(1, `FLAG: --${name}=${JSON.stringify(text)}`);
  if (lenient !== undefined)
    log.room('config').info('Using lenient decoding as strict decoding failed', { because: lenient });
  using ending = endOnSignals();
  const options = {
    version: ownVersion(),
    flags: flagTexts(given),
    env,
    openDataPath,
    settings: nodeSettings,
    initOnly: values.initOnly,
  };
  if (values.config === '' || values.initOnly) {
    await runDaemon({ ...options, config: first, log, signal: ending.signal });
    return;
  }
  await runReloading({
    path: values.config,
    first,
    async load() {
      const { configuration } = await loadConfiguration(values, given);
      return proxyConfig(configuration, {
        hostname: hostname(),
        master: values.master,
        own: first.own,
      });
    },
    watch: (changed, signal) => watchConfigFile(values.config, changed, log.room('config'), signal),
    run: (config, configFile, started, signal) =>
      runDaemon({ ...options, config, log: logOf(config), configFile, started, signal }),
    log: log.room('config'),
    now: Date.now,
    signal: ending.signal,
  });
}

/** Every flag with its value, as /flagz shows them. */
function flagTexts(given: readonly GivenFlag[]): Readonly<Record<string, string>> {
  const texts = Object.fromEntries(FLAGS.map((flag) => [flag.name, flag.default]));
  for (const { name, text } of given) texts[name] = text;
  return texts;
}
