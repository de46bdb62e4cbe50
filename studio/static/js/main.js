// The studio begins here: connect, lay out the page, open the first mechanism.
import { connect, ask } from "./link.js";
import { state, on, begin, again } from "./store.js";
import { firstTheme, bar } from "./bar.js";
import { drawing } from "./drawing.js";
import { tools } from "./tools.js";
import { player } from "./player.js";
import { panel, filePanel } from "./panel.js";
import { buildPanel } from "./tables.js";
import { watchPanel } from "./plots.js";
import { understandPanel } from "./understand.js";
import { status } from "./status.js";
import { keys } from "./keys.js";
import { fit } from "./view.js";
import { openFile, openTemplate, textOf } from "./files.js";
import { toast } from "./dom.js";

const byId = (id) => document.getElementById(id);
firstTheme();
bar(byId("bar"));
status(byId("status"));
const sheet = byId("sheet"), drawn = drawing(sheet), playing = player(byId("player"));
const hands = tools(byId("tools"), sheet, drawn, playing);
panel(byId("panel"), { build: buildPanel, watch: watchPanel, understand: understandPanel, file: filePanel });
keys(hands, playing);
on("opened", fit);
on("recolour", again);
on("busy", () => { document.documentElement.dataset.busy = state.busy; }); // what scripts and tests wait for

let space = null;
on("document", async () => {
  const spatial = state.data.space === "spatial";
  drawn.svg.classList.toggle("hidden", spatial);
  if (spatial && !space) {
    space = import("./spatial.js").then((m) => m.spatialView(sheet)).catch((error) => { toast(`The spatial view cannot be shown: ${error.message}`, true); return { show: () => undefined }; });
  }
  if (space) (await space).show(spatial);
});

async function first() {
  await connect();
  const hello = await ask("hello");
  Object.assign(state, { files: hello.files, templates: hello.templates, folder: hello.folder, version: hello.version });
  if (location.hash.startsWith("#m=")) {
    try { await begin(await textOf(location.hash), null); return; } catch (error) { toast(error.message, true); }
  }
  if (hello.first) await openFile(hello.first);
  if (!state.text) await openTemplate("Four-bar");
}
first().then(() => { document.documentElement.dataset.ready = "yes"; performance.mark("ready"); }).catch((error) => toast(error.message, true));
