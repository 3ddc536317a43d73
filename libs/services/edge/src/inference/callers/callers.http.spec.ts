import './both-ways.part.spec.js';
import './disconnect.part.spec.js';
import './kept-connection.part.spec.js';
import './oversize.part.spec.js';
import './revoked.part.spec.js';
