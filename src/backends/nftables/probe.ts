// Asks the kernel for everything that nftables mode uses, by making it all in a table that is gone at the commit's end.
import { PointsmanError } from '../../base/errors.ts';
import type { NftCommand } from '../../kernel/nft/commands.ts';
import type { Expression } from '../../kernel/nft/expressions.ts';
import type { TableSettings } from '../../plan/forwarding-table.ts';
import type { NftOutcome, NftPort } from './nft-port.ts';
import { baseCommands, rungCommands } from './ruleset.ts';
import type { TableFamily } from './ruleset-statements.ts';

const PROBE_TABLE = 'pointsman-probe';

/** The kernel options behind expressions, as an administrator finds them in the kernel's configuration. */
const OPTIONS: Readonly<Partial<Record<Expression['kind'], string>>> = {
  fib: 'CONFIG_NFT_FIB and CONFIG_NFT_FIB_IPV4 or CONFIG_NFT_FIB_IPV6',
  'number-generator': 'CONFIG_NFT_NUMGEN',
  nat: 'CONFIG_NFT_NAT',
  masquerade: 'CONFIG_NFT_MASQ',
  reject: 'CONFIG_NFT_REJECT',
  ct: 'CONFIG_NFT_CT',
};
const ENOENT = 2;
const EOPNOTSUPP = 95;
const EPERM = 1;

/**
 * Throws E_PERMISSION without CAP_NET_ADMIN, E_KERNEL_FEATURE naming what the kernel lacks. Nothing is left behind:
 * the table is deleted in the same transaction that makes it.
 */
export async function probeFeatures(nft: NftPort, family: TableFamily): Promise<void> {
  const settings: TableSettings = {
    masqueradeAll: false,
    localDetector: { kind: 'interface', name: 'lo' },
    serviceCidrs: [],
    nodePortAddresses: 'all',
  };
  const made: readonly NftCommand[] = [
    ...baseCommands(family, settings),
    ...rungCommands(family, { local: false, affinitySeconds: 0, rung: 4 }, false, 4),
    ...rungCommands(family, { local: false, affinitySeconds: 10, rung: 4 }, false, 0x10_0004),
  ].map((command) => ({ ...command, table: PROBE_TABLE }));
  const outcome = await nft.commit([...made, { op: 'delete-table', family, table: PROBE_TABLE }]);
  if (outcome.kind === 'committed') return;
  throw errorOf(outcome, made, family);
}

function errorOf(
  outcome: Exclude<NftOutcome, { kind: 'committed' }>,
  made: readonly NftCommand[],
  family: TableFamily,
): PointsmanError {
  if (outcome.kind === 'unknown') {
    return new PointsmanError(
      'E_NETLINK_LOST',
      `cannot tell whether the kernel has nf_tables: ${outcome.because}`,
    );
  }
  const [first] = outcome.refusals;
  if (first?.errno === EPERM) {
    return new PointsmanError('E_PERMISSION', 'cannot change nf_tables: EPERM (operation not permitted)', {
      hint: 'run as root or with CAP_NET_ADMIN',
    });
  }
  const command = first === undefined ? undefined : made[first.command];
  const lacking = command?.op === 'add-rule' ? lackingOf(command.expressions) : undefined;
  const missing = first?.errno === ENOENT || first?.errno === EOPNOTSUPP;
  return new PointsmanError(
    'E_KERNEL_FEATURE',
    `the kernel cannot do nftables mode for ${family}: ${first?.text ?? 'refused without a reason'}`,
    {
      hint:
        missing && lacking !== undefined
          ? `the kernel needs ${lacking}`
          : 'Linux 5.13 or newer with CONFIG_NF_TABLES and CONFIG_NF_NAT is needed',
      facts: { errno: first?.errno },
    },
  );
}

/** The options of the expressions in a refused rule that are modules of their own. */
function lackingOf(expressions: readonly Expression[]): string | undefined {
  const options = new Set(expressions.flatMap(({ kind }) => OPTIONS[kind] ?? []));
  return options.size === 0 ? undefined : [...options].join(', ');
}
