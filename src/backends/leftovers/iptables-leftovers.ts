// Removes a kube-proxy's iptables rules, of either variant and family.

import type { DirectKernel } from '../../kernel/direct.ts';
import { chainsIn, chainsRequest } from '../../kernel/nft/chains.ts';
import type { Family } from '../../model/address.ts';
import { LOCK_WAIT, programError, type Variant } from '../iptables/programs.ts';
import { parseSaved } from '../iptables/saved.ts';
import { TABLES, type Table } from '../iptables/static-rules.ts';
import { asPointsmanError, isAbsent } from './failures.ts';
import type { LeftoverPrograms } from './iptables-programs.ts';
import { planRemoval } from './iptables-removal.ts';
import { isKubeProxyChain } from './kube-chains.ts';
import { counted, type ReportInWork } from './report.ts';

export interface IptablesTools {
  readonly kernel: Pick<DirectKernel, 'dump'>;
  readonly programs: LeftoverPrograms;
  /** The content of a file of /proc; undefined when there is none. */
  readonly readProc: (path: string) => string | undefined;
}

/** The tables in which something may be found: unless there is one, no program is started. */
type Presence = readonly Table[];

const NAMES_FILE: Readonly<Record<Family, string>> = {
  IPv4: '/proc/net/ip_tables_names',
  IPv6: '/proc/net/ip6_tables_names',
};

export async function removeIptablesLeftovers(tools: IptablesTools, report: ReportInWork): Promise<void> {
  for (const variant of ['legacy', 'nft'] as const) {
    for (const family of ['IPv4', 'IPv6'] as const) {
      try {
        const present = variant === 'legacy' ? legacyTables(tools, family) : nftTables(tools, family);
        if (present.length > 0) await removeIn(tools, variant, family, present, report);
      } catch (error) {
        report.failures.push({
          what: `remove rules of kube-proxy (iptables-${variant}, ${family})`,
          error: asPointsmanError(error),
        });
      }
    }
  }
}

/** Without a program there is no way to see more than the names of tables. */
function legacyTables({ readProc }: IptablesTools, family: Family): Presence {
  const names = (readProc(NAMES_FILE[family]) ?? '').split('\n');
  return TABLES.filter((table) => names.includes(table));
}

function nftTables({ kernel }: IptablesTools, family: Family): Presence {
  const nftFamily = family === 'IPv4' ? 'ip' : 'ip6';
  const request = chainsRequest({ family: nftFamily, table: '' });
  try {
    const chains = [...chainsIn(kernel.dump('netfilter', request))].filter((one) => one.family === nftFamily);
    return TABLES.filter((table) =>
      chains.some((one) => one.table === table && isKubeProxyChain(table, one.chain)),
    );
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

async function removeIn(
  { programs }: IptablesTools,
  variant: Variant,
  family: Family,
  present: Presence,
  report: ReportInWork,
): Promise<void> {
  const where = `(iptables-${variant}, ${family})`;
  const pair = await programs.find(family, variant);
  if (pair === undefined) {
    const name = `${family === 'IPv4' ? 'iptables' : 'ip6tables'}-${variant}-save`;
    report.left.push({
      what: `${present.length === 1 ? 'table' : 'tables'} ${present.join(', ')} ${where}`,
      because:
        variant === 'legacy'
          ? `what is in there cannot be seen without the program ${name} on PATH`
          : `it holds chains of kube-proxy, and the program ${name} is not on PATH`,
    });
    return;
  }
  const listed = await programs.run(pair.save, []);
  if (listed.code !== 0) throw programError(`cannot list the rules ${where}`, listed);
  const saved = parseSaved(listed.out);
  for (const table of present) {
    if (!saved.has(table))
      report.left.push({
        what: `table ${table} ${where}`,
        because: 'iptables cannot read it: another program put rules there that iptables does not know',
      });
  }
  const { tables, kept } = planRemoval(saved);
  for (const { table, chain, because } of kept)
    report.left.push({ what: `chain ${chain} of table ${table} ${where}`, because });
  for (const { table, restore, chains, rules } of tables) {
    const what = `${counted(chains, 'chain')} and ${counted(rules, 'rule')} of table ${table} ${where}`;
    const ran = await programs.run(pair.restore, ['--noflush', ...LOCK_WAIT], restore);
    if (ran.code === 0) report.removed.push(what);
    else
      report.failures.push({
        what: `remove ${what}`,
        error: programError(`iptables-restore refused it`, ran),
      });
  }
}
