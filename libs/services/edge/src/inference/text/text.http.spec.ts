import './chat.part.spec.js';
import './count-input.part.spec.js';
import './documented-answers.part.spec.js';
import './every-byte.part.spec.js';
import './forced-tool.part.spec.js';
import './headers.part.spec.js';
import './streams.part.spec.js';
