# For scripts that build or try packages: commands in a clean Debian 12 that mmdebstrap makes and throws away.
# Works as root, and for others where the kernel allows user namespaces. PNMF_MIRROR names another mirror.

need() { # TOOL…
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "$(basename "$0"): $tool is not there; scripts/install-packages debian" >&2; exit 77; }
    done
}

# The packages that packages.txt lists under these words, with commas.
packages_of() { # WORD…
    printf '%s\n' "$@" | awk 'NR == FNR { use[$1] = 1; next } !/^#/ && NF >= 2 && use[$1] { print $2 }' - packages.txt | sort -u | paste -sd,
}

# The last commit, or the one that $PNMF_COMMIT names, as a folder.
sources_to() { # FOLDER
    mkdir -p "$1"
    git archive --format=tar "${PNMF_COMMIT:-HEAD}" | tar -x -C "$1"
}

# Copies the folder IN to /in of a clean system with the given packages (with commas), runs the command there, and brings
# what it leaves in /out to the folder OUT. $JOBS is how many processes a build may start.
in_clean_system() { # PACKAGES IN OUT COMMAND
    need mmdebstrap
    local work
    work=$(mktemp -d)
    mkdir "$work/in" && cp -r "$2/." "$work/in/"
    printf '#!/bin/sh\nset -e\nexport LC_ALL=C.UTF-8 JOBS=%s\ncd /in\n%s\n' "${JOBS:-$(nproc)}" "$4" >"$work/in/.run"
    mkdir -p "$3"
    mmdebstrap --quiet --variant=apt --include="$1" \
        --customize-hook="copy-in '$work/in' /" \
        --customize-hook='mkdir -p "$1/out" && chroot "$1" sh /in/.run' \
        --customize-hook="sync-out /out '$3'" \
        bookworm /dev/null "${PNMF_MIRROR:-http://deb.debian.org/debian}" || { rm -rf "$work"; return 1; }
    rm -rf "$work"
}
