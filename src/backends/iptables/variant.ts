// Which of iptables' two variants this node uses: the one that the kubelet and others already write to, so that all see
// the same rules (as the wrappers in kube-proxy's image decide it).
import type { Family } from '../../model/address.ts';
import type { Programs, Variant } from './programs.ts';

export interface VariantChoice {
  readonly variant: Variant;
  readonly because: string;
}

const VARIANTS: readonly Variant[] = ['nft', 'legacy'];
const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];
const KUBELET = /^:(KUBE-IPTABLES-HINT|KUBE-KUBELET-CANARY) /m;

/** Undefined when neither is there. */
export async function chooseVariant(programs: Programs): Promise<VariantChoice | undefined> {
  const there = VARIANTS.filter((variant) => programs.has(variant));
  const [only] = there;
  if (only === undefined) return undefined;
  if (there.length === 1) return { variant: only, because: 'the other variant is not installed' };
  const save = async (variant: Variant, ...args: readonly string[]): Promise<string> => {
    const saved = await Promise.all(FAMILIES.map((family) => programs.run(family, variant, 'save', args)));
    return saved.map(({ out }) => out).join('');
  };
  for (const variant of VARIANTS)
    if (KUBELET.test(await save(variant, '-t', 'mangle')))
      return { variant, because: "the kubelet's chains are there" };
  const rules = async (variant: Variant): Promise<number> =>
    ((await save(variant)).match(/^-/gm) ?? []).length;
  const [nft, legacy] = [await rules('nft'), await rules('legacy')];
  return legacy > nft
    ? { variant: 'legacy', because: `${legacy} rules are there, and ${nft} in the other` }
    : { variant: 'nft', because: `${nft} rules are there, and ${legacy} in the other` };
}
