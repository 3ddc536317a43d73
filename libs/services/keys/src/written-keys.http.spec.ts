import './api-keys/api-keys.part.spec.js';
import './api-keys/named-in-catalogue.part.spec.js';
import './prompts/templates.part.spec.js';
import './written-fields.part.spec.js';
import './provider-keys/provider-key-shapes.part.spec.js';
