import './forgotten-answers.part.spec.js';
import '../reconcile/proof-rounds.part.spec.js';
