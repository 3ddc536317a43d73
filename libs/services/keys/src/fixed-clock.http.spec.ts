// It names the hour at which the clock begins.
import './admin-keys/admin-keys.part.spec.js';
// Nobody has logged in as the first person before it.
import './audit/audit.part.spec.js';
import './principals/principals.part.spec.js';
