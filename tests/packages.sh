# Installation of missing programs, for scripts that source this file.

# How long to wait for another apt-get, in seconds: fresh cloud images run one for minutes after their first start.
APT_PATIENCE=${APT_PATIENCE:-600}

# Seconds between two attempts.
APT_PAUSE=${APT_PAUSE:-2}

# What apt-get printed when it failed last.
apt_error=

missing() {
    echo "$0: missing: $*" >&2
    # Last, so that it is not lost above other output.
    [ -z "$apt_error" ] || printf '%s\n' "$apt_error" >&2
    exit 1
}

# Runs apt-get, and waits while another process holds one of its locks. DPkg::Lock::Timeout alone does not wait for the
# locks of the package lists and the archive.
apt_get() {
    local as_root=() deadline=$((SECONDS + APT_PATIENCE))
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    until apt_error=$("${as_root[@]}" apt-get -qq -o DPkg::Lock::Timeout="$APT_PATIENCE" "$@" 2>&1 >/dev/null); do
        case $apt_error in
        *"get lock"* | *"lock directory"* | *"frontend lock"*) ;;
        *) return 1 ;;
        esac
        [ "$SECONDS" -lt "$deadline" ] || return 1
        echo "$0: waiting for another apt-get" >&2
        sleep "$APT_PAUSE"
    done
    apt_error=
}

# Installs Debian's packages, as root or with sudo that asks for no password.
install() {
    command -v apt-get >/dev/null && apt_get update && apt_get install -y "$@"
}

# Makes sure that a program is there: need PROGRAM PACKAGE.
need() {
    local program=$1 package=$2
    command -v "$program" >/dev/null || install "$package" ||
        missing "$program (Debian's package $package); it could not be installed"
    command -v "$program" >/dev/null || missing "$program, although $package is installed"
}

# Installs the npm packages that check, test and build the page, unless they are up to date.
need_page_packages() {
    local lock=client/web/package-lock.json installed=client/web/node_modules/.package-lock.json
    if [ ! -e "$installed" ] || [ "$lock" -nt "$installed" ]; then
        npm ci --prefix client/web --no-audit --no-fund || missing "the packages of $lock; npm ci failed"
    fi
}
