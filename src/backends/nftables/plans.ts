// Plan words: what a frontend's element tells the chains to do. A word is `policy << 16 | rung`, which nft prints as
// the tc handle `policy:rung`, since a packet carries it in skb->priority from one expression to the next.

/** How a list is drawn from. */
export interface ListPlan {
  /** The by-source list of this node's endpoints, which has maps or slots of its own. */
  readonly local: boolean;
  /** 0 for none. */
  readonly affinitySeconds: number;
  readonly rung: number;
}

export type PlanWord = number;

export const REFUSE_WORD: PlanWord = 0x1_0001;
export const DROP_WORD: PlanWord = 0x1_0002;
export const BY_SOURCE_WORD: PlanWord = 0x2_0000;
const ANY_POLICY = 0;
const LOCAL_POLICY = 5;
const FIRST_STICKY_POLICY = 16;

/** The words of one table: sticky policies are numbered by time-out as these are first seen. */
export interface PlanWords {
  /** The word of a list plan; numbers its time-out if need be. */
  wordOf(plan: ListPlan): PlanWord;
  /** Takes over a numbering found in the kernel, so that a restart changes no word. */
  learn(word: PlanWord, affinitySeconds: number): void;
}

export function createPlanWords(): PlanWords {
  const indexOf = new Map<number, number>();
  const taken = new Set<number>();
  const indexFor = (seconds: number): number => {
    const known = indexOf.get(seconds);
    if (known !== undefined) return known;
    let index = 0;
    while (taken.has(index)) index += 1;
    indexOf.set(seconds, index);
    taken.add(index);
    return index;
  };
  return {
    wordOf({ local, affinitySeconds, rung }) {
      const policy =
        affinitySeconds > 0
          ? FIRST_STICKY_POLICY + 2 * indexFor(affinitySeconds) + (local ? 1 : 0)
          : local
            ? LOCAL_POLICY
            : ANY_POLICY;
      return ((policy << 16) | rung) >>> 0;
    },
    learn(word, affinitySeconds) {
      const policy = word >>> 16;
      if (policy < FIRST_STICKY_POLICY) return;
      const index = (policy - FIRST_STICKY_POLICY) >> 1;
      indexOf.set(affinitySeconds, index);
      taken.add(index);
    },
  };
}
