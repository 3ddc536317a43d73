// Each test starts an edge: its limit store and ledger are what the test looks at.
import './admission.part.spec.js';
import './budgets.part.spec.js';
import './settled-facts.part.spec.js';
