import './orgs/orgs.part.spec.js';
import './orgs/request-logging.part.spec.js';
import './budgets/budgets.part.spec.js';
import './budgets/period-budgets.part.spec.js';
import './members/members.part.spec.js';
import './invitations/invitations.part.spec.js';
import './teams/teams.part.spec.js';
import './views/views.part.spec.js';
import './routing-templates/routing-templates.part.spec.js';
import './accounts/account-change.part.spec.js';
import './discounts/discounts.part.spec.js';
import './directory/directory.part.spec.js';
// It changes the password of the first person, which ends that person's sessions.
import './passwords/passwords.part.spec.js';
