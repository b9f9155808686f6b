"""Pages in headless Chromium: what they show, and whether their scripts fail."""

import pathlib
import re
import shutil
import subprocess
import sys

# Acts like somebody before the page, and writes what came of it into the document.
ACTIONS = """<script>
const canvas = document.querySelector("canvas");
if (canvas) {
  canvas.setPointerCapture = () => {};
  const picture = () => {
    const d = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let painted = 0, sum = 0;
    for (let k = 0; k < d.length; k += 4) {
      painted += d[k + 3] > 0;
      sum = (sum * 31 + d[k] + 7 * d[k + 1] + 49 * d[k + 2]) % 1000003;
    }
    return [painted, sum];
  };
  const at = (type, x, y) => canvas.dispatchEvent(
      new PointerEvent(type, {clientX: x, clientY: y, pointerId: 1}));
  const seen = [picture()];
  const then = (acts) => {
    if (!acts.length) return void (document.body.dataset.seen = JSON.stringify(seen));
    acts[0]();
    requestAnimationFrame(() => requestAnimationFrame(() => {
      seen.push(picture());
      then(acts.slice(1));
    }));
  };
  const buttons = [...canvas.closest("figure").querySelectorAll("button")];
  const drag = () => {
    at("pointerdown", 300, 200);
    at("pointermove", 340, 230);
    at("pointerup", 340, 230);
  };
  then([drag,
        () => buttons.at(-1).click(),
        () => buttons[0].click()]);
}
for (const svg of document.querySelectorAll("svg")) {
  const box = svg.getBoundingClientRect();
  svg.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + box.width / 2,
                                                     clientY: box.top + box.height / 2}));
}
</script></body>"""


# Without a screen Chromium draws no second frame before it prints the document.
FRAMES = "<head><script>window.requestAnimationFrame = (f) => setTimeout(f, 5);</script>"


def find():
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


def call(browser, page, *options):
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
               "--window-size=1180,1500", "--enable-logging=stderr", *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    # The one remark is about ACTIONS, which read pixels.
    console = [line for line in done.stderr.splitlines()
               if "CONSOLE" in line and "willReadFrequently" not in line]
    if console or done.returncode != 0:
        sys.exit(f"{page}: status {done.returncode}\n" + "\n".join(console or [done.stderr]))
    return done.stdout


def open_page(browser, page, dark=False):
    """The document as the page's scripts have left it, with its canvas turned and clicked."""
    acted = page.with_name("acted.html")
    acted.write_text(page.read_text().replace("</body>", ACTIONS).replace("<head>", FRAMES))
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    dom = call(browser, acted, "--virtual-time-budget=4000", "--dump-dom", scheme)
    acted.unlink()
    assert 'data-done="yes"' in dom, f"{page}: the page has not come to its end"
    assert re.search(r'id="errors" hidden=""></p>', dom), f"{page}: it shows an error"
    return dom


def screenshot(browser, page, picture):
    call(browser, page, f"--screenshot={picture}", "--virtual-time-budget=4000")
    assert pathlib.Path(picture).stat().st_size > 20000
