import './operator-requests.part.spec.js';
import './shadows.part.spec.js';
import './reads.part.spec.js';
import './whose-usage.part.spec.js';
import './hostile-filters.part.spec.js';
import './rejections.part.spec.js';
import './series.part.spec.js';
import './counters.part.spec.js';
