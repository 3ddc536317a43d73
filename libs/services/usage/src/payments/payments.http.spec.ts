import './checkout.part.spec.js';
import './coupons.part.spec.js';
import './auto-recharge.part.spec.js';
import './statement.part.spec.js';
