#!/bin/sh
# Debian's arm64 libraries that minirt links with, in a folder; the system is not changed, and root is not needed.
# usage: arm_root.sh ROOT
root=$1
packages="libprotobuf-c-dev libprotobuf-c1 libzip-dev libzip4 libjansson-dev libjansson4 libjpeg62-turbo-dev libjpeg62-turbo
  libpng-dev libpng16-16 libpcre2-dev libpcre2-8-0 libunistring-dev libunistring2 libssl3 libbz2-1.0 zlib1g zlib1g-dev
  libtiff-dev libtiff6 libtiffxx6 libwebp-dev libwebp7 libopenjp2-7-dev libopenjp2-7 liblzma5 libzstd1 libdeflate0 libjbig0
  liblerc4"
[ -e "$root/.complete" ] && exit 0
mkdir -p "$root/apt/lists/partial" "$root/apt/archives/partial" "$root/deb" || exit 1
apt=$(cd "$root/apt" && pwd)
: >"$apt/status"
get() {
    apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt" -o Dir::Cache="$apt" \
        -o Dir::State::status="$apt/status" -o APT::Sandbox::User="$(id -un)" "$@"
}
get update || exit 1
(cd "$root/deb" && get download $packages) || exit 1
for package in "$root"/deb/*.deb; do dpkg-deb -x "$package" "$root" || exit 1; done
touch "$root/.complete"
