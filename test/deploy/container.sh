# Runs a command as a container of the chart's DaemonSet runs, as far as that is a matter of the kernel: container.sh
# FOLDER CAPABILITY… -- COMMAND…. In a mount namespace of its own: the file system read-only, /proc/sys and /sys as
# container runtimes mount them, FOLDER/config and FOLDER/account where the volumes of a Pod are,
# FOLDER/xtables.lock too where there is one, /run/pointsman empty. As root with the
# capabilities given (such as net_admin), or all that there are for "privileged".
set -eu
folder=$1
shift
bounding=-all
while [ "$1" != -- ]; do
  if [ "$1" = privileged ]; then bounding=+all; else bounding=$bounding,+$1; fi
  shift
done
shift

mount --make-rprivate /
mount -t tmpfs tmpfs /var/lib
mkdir /var/lib/kube-proxy
mount --bind "$folder/config" /var/lib/kube-proxy
mount -t tmpfs tmpfs /run
account=/run/secrets/kubernetes.io/serviceaccount
mkdir -p $account
mount --bind "$folder/account" $account
if [ -e "$folder/xtables.lock" ]; then
  : > /run/xtables.lock
  mount --bind "$folder/xtables.lock" /run/xtables.lock
fi
mkdir /run/pointsman
mount -t tmpfs tmpfs /run/pointsman
for place in /var/lib/kube-proxy $account /var/lib /run /tmp /; do
  mountpoint -q $place && mount -o remount,bind,ro $place
done
if [ "$bounding" = +all ]; then exec "$@"; fi
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount -o remount,bind,ro /sys
exec setpriv --bounding-set="$bounding" --inh-caps=-all --no-new-privs "$@"
