#!/bin/sh
# images/icon.svg → images/icon.png, by a browser without a window.
set -eu
cd "$(dirname "$0")/../images"
page=$(mktemp --suffix=.html)
{ printf '<body style="margin:0;background:transparent">'; cat icon.svg; } > "$page"
"${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --hide-scrollbars \
  --default-background-color=00000000 --window-size=128,128 --screenshot=icon.png "file://$page" 2> /dev/null
rm "$page"
