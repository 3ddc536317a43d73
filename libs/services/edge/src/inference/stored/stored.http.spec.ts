import './stored.part.spec.js';
import './named-files.part.spec.js';
import './recalled-bytes.part.spec.js';
import './responses-state.part.spec.js';
import './provider-objects.part.spec.js';
