import './speech.part.spec.js';
import './speech-providers.part.spec.js';
import './transcriptions.part.spec.js';
