# A host: a root of its own over this machine's, the agent of the peers' hooks, sshd. $1 place, $2 folder, $3 name.
set -e
hostname "$3"
mount -t tmpfs -o mode=755 tmpfs "$1"
mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" overlay "$1/root"
mkdir -p "$1/root/var/lib/juju" "$1/root/var/log/juju"
for folder in tmp run root var/lib/juju var/log/juju; do
    mount -t tmpfs -o mode=755 tmpfs "$1/root/$folder"
done
chmod 1777 "$1/root/tmp"
mkdir -p "$1/root/run/sshd"
echo "127.0.0.1 localhost $3" >"$1/root/etc/hosts" # or sudo asks a name server that is not there
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
mount --bind /sys "$1/root/sys"
cd "$1/root"
if [ -e "$2/share/agent.py" ]; then
    chroot . /usr/bin/env python3 -I -S "$2/share/agent.py" &
fi
exec chroot . /usr/sbin/sshd -D -e -f "$2/sshd_config"
