import './anthropic-flags.part.spec.js';
import './byok.part.spec.js';
import './hostile-upstream.part.spec.js';
import './leaving.part.spec.js';
import './one-sided-usage.part.spec.js';
import './peer-bugs.part.spec.js';
import './provider-cost.part.spec.js';
import './vertex-claude.part.spec.js';
