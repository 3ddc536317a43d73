// Each test starts an edge: its clock, breakers and budget of retries are what the test looks at.
import './late-usage.part.spec.js';
import './outage.part.spec.js';
import './price-edges.part.spec.js';
import './price-windows.part.spec.js';
import './retries.part.spec.js';
