// The data path of the mode that is asked for; the others are not loaded.
import type { OpenDataPath } from './data-path.ts';

export const openDataPath: OpenDataPath = async (options) => {
  switch (options.config.mode) {
    case 'nftables': {
      const { openNftables } = await import('./open-nftables.ts');
      return openNftables(options);
    }
    case 'iptables': {
      const { openIptables } = await import('./open-iptables.ts');
      return openIptables(options);
    }
  }
};
