// Carrying out what commands.ts plans.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { PointsmanError } from '../../base/errors.ts';
import { inNetns, namedNamespace } from '../../kernel/netns.ts';
import type { Sys } from '../../kernel/sys/sys.ts';
import { BRIDGE_SETTINGS, type Build, HOST_SETTINGS, type Inside, ROUTER_SETTINGS } from './commands.ts';
import { ipBatch } from './ip-command.ts';
import { namespaceName } from './names.ts';

/** Processes at once. */
const AT_ONCE = 4;

/** Builds; what was begun is taken down again when something fails. */
export async function construct(sys: Sys, prefix: string, build: Build): Promise<void> {
  const name = (part: string): string => namespaceName(prefix, part);
  const parts = [...build.routers, ...build.hosts];
  const present = new Set(listNamespaces());
  const foreign = parts.map(name).find((each) => present.has(each));
  if (foreign !== undefined) {
    throw new PointsmanError('E_LAB', `there is a network namespace ${foreign} already`, {
      hint: 'another lab uses this prefix, or left it behind when it crashed: take it down first',
    });
  }
  try {
    await ipBatch({ lines: parts.map((part) => `netns add ${name(part)}`) });
    const routerSettings = {
      ...ROUTER_SETTINGS,
      ...(existsSync('/proc/sys/net/bridge') ? BRIDGE_SETTINGS : {}),
    };
    for (const part of build.routers) applySettings(sys, name(part), routerSettings);
    for (const part of build.hosts) applySettings(sys, name(part), HOST_SETTINGS);
    await ipBatch({
      lines: build.cables.map(
        ({ part, device, peerPart, peerDevice, hardware }) =>
          `link add ${device} address ${hardware} netns ${name(part)} type veth peer name ${peerDevice} netns ${name(peerPart)}`,
      ),
    });
    await runInside(prefix, build.inside);
  } catch (error) {
    await destroy(prefix, parts);
    throw error;
  }
}

/** Runs commands in their namespaces, several namespaces at once. */
export async function runInside(prefix: string, inside: readonly Inside[]): Promise<void> {
  const queue = inside.values();
  const worker = async (): Promise<void> => {
    for (const { part, lines } of queue) await ipBatch({ namespace: namespaceName(prefix, part), lines });
  };
  const results = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** The names of all named network namespaces of the machine. */
export function listNamespaces(): readonly string[] {
  const folder = namedNamespace('');
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Deletes namespaces; one that is gone already is no error. Cables go with them. */
export async function destroy(prefix: string, parts: readonly string[]): Promise<void> {
  await deleteNamespaces(parts.map((part) => namespaceName(prefix, part)));
}

export async function deleteNamespaces(names: readonly string[]): Promise<void> {
  await ipBatch({ lines: names.map((name) => `netns del ${name}`), force: true });
}

function applySettings(sys: Sys, name: string, settings: Readonly<Record<string, string>>): void {
  inNetns(sys, namedNamespace(name), () => {
    for (const [setting, value] of Object.entries(settings)) {
      try {
        writeFileSync(`/proc/sys/net/${setting}`, value);
      } catch (cause) {
        throw new PointsmanError('E_LAB', `cannot set net/${setting} to ${value} in namespace ${name}`, {
          ...(setting.startsWith('ipv6/') && { hint: 'a lab needs a kernel with IPv6' }),
          cause,
        });
      }
    }
  });
}
