import './silence.part.spec.js';
import './stalled-readers.part.spec.js';
