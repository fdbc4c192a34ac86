// The image's root file system in a mount namespace of its own, as a container runtime would set it up: it and /proc/sys
// read-only, with /proc, /dev and a writable /run/pointsman, and a program in it as a user with one capability.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that is removed at the end of the scope. */
export interface WorkFolder extends Disposable {
  readonly path: string;
}

export function createWorkFolder(): WorkFolder {
  const path = mkdtempSync(join(tmpdir(), 'pointsman-image-test-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** capsh, since chroot needs a capability that must be gone afterwards. */
const SET_UP = `
set -e
root=$1 user=$2 program=$3
shift 3
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=755,uid=$user,gid=$user run "$root/run/pointsman"
all=$(capsh --decode=$(sed -n 's/^CapBnd:\\s*//p' /proc/self/status) | sed 's/.*=//')
others=$(echo "$all" | tr , '\\n' | grep -vx cap_net_admin | paste -sd ,)
exec capsh --chroot="$root" --drop="$others" --keep=1 --groups= --gid=$user --uid=$user \\
  --caps=cap_net_admin=eip --addamb=cap_net_admin --noenv --shell="$program" -- "$@"
`;

/** The command that runs a program of the image. */
export function inImage(
  rootfs: string,
  user: number,
  program: string,
  flags: readonly string[],
): readonly string[] {
  const own = ['unshare', '--mount', '--propagation', 'private'];
  return [...own, 'sh', '-c', SET_UP, 'sh', rootfs, String(user), program, ...flags];
}
