//! Authorization, SASL, delegation tokens.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::{ConfigKey, Valid};

pub(super) static KEYS: &[ConfigKey] = keys! {
    "authorizer.class.name" String = "", ANY, ReadOnly, SECURITY, "Class that authorizes requests; none if empty.";
    "super.users" List = "", ANY, ReadOnly, SECURITY, "Principals that may do everything, between semicolons.";
    "allow.everyone.if.no.acl.found" Boolean = "false", ANY, ReadOnly, SECURITY,
        "Whether a resource without ACLs is open to all.";
    "principal.builder.class" Class =
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder", ANY, PerBroker, JAVA,
        "Class that makes a principal of a connection.";
    "connections.max.reauth.ms" Long = "0", ANY, ReadOnly, SECURITY,
        "Longest life of a session before it must authenticate anew, in ms (KIP-368); 0 for ever.";
    "security.providers" String, ANY, ReadOnly, JAVA, "Classes of security providers.";
    "sasl.enabled.mechanisms" List = "GSSAPI", ANY, PerBroker, SECURITY, "SASL mechanisms offered.";
    "sasl.mechanism.inter.broker.protocol" String = "GSSAPI", ANY, PerBroker, SECURITY,
        "SASL mechanism among brokers.";
    "sasl.mechanism.controller.protocol" String = "GSSAPI", ANY, ReadOnly, SECURITY,
        "SASL mechanism towards controllers.";
    "sasl.server.max.receive.size" Int = "524288", ANY, ReadOnly, SECURITY,
        "Largest SASL message before authentication, in bytes.";
    "sasl.jaas.config" Password, ANY, PerBroker, SECURITY, "JAAS login of a listener.";
    "sasl.client.callback.handler.class" Class, ANY, ReadOnly, JAVA, "Class of SASL callbacks, client side.";
    "sasl.server.callback.handler.class" Class, ANY, ReadOnly, JAVA, "Class of SASL callbacks, server side.";
    "sasl.login.class" Class, ANY, ReadOnly, JAVA, "Class of SASL logins.";
    "sasl.login.callback.handler.class" Class, ANY, ReadOnly, JAVA, "Class of SASL login callbacks.";
    "sasl.login.connect.timeout.ms" Int, ANY, ReadOnly, SECURITY, "Timeout of connecting to a login server, in ms.";
    "sasl.login.read.timeout.ms" Int, ANY, ReadOnly, SECURITY, "Timeout of reading from the login's provider, in ms.";
    "sasl.login.retry.backoff.ms" Long = "100", ANY, ReadOnly, SECURITY, "First wait after an error, in ms.";
    "sasl.login.retry.backoff.max.ms" Long = "10000", ANY, ReadOnly, SECURITY, "Longest wait, in ms.";
    "sasl.login.refresh.window.factor" Double = "0.8", Valid::Ratio(0.5, 1.0), PerBroker, SECURITY,
        "A login is refreshed after this part of its life.";
    "sasl.login.refresh.window.jitter" Double = "0.05", Valid::Ratio(0.0, 0.25), PerBroker, SECURITY, "Random part of that.";
    "sasl.login.refresh.min.period.seconds" Short = "60", between(0, 900), PerBroker, SECURITY,
        "Shortest time between refreshes, in s.";
    "sasl.login.refresh.buffer.seconds" Short = "300", between(0, 3600), PerBroker, SECURITY,
        "Time to keep before the end of a login, in s.";
    "sasl.kerberos.service.name" String, ANY, PerBroker, SECURITY, "Kerberos principal of brokers.";
    "sasl.kerberos.kinit.cmd" String = "/usr/bin/kinit", ANY, PerBroker, SECURITY, "Path of kinit.";
    "sasl.kerberos.ticket.renew.window.factor" Double = "0.8", ANY, PerBroker, SECURITY,
        "A ticket is renewed after this part of its life.";
    "sasl.kerberos.ticket.renew.jitter" Double = "0.05", ANY, PerBroker, SECURITY, "Random part of that.";
    "sasl.kerberos.min.time.before.relogin" Long = "60000", ANY, PerBroker, SECURITY,
        "Shortest time between logins, in ms.";
    "sasl.kerberos.principal.to.local.rules" List = "DEFAULT", ANY, PerBroker, SECURITY,
        "Rules from Kerberos principals to names.";
    "sasl.oauthbearer.jwks.endpoint.url" String, ANY, ReadOnly, SECURITY, "Where the keys of tokens are found.";
    "sasl.oauthbearer.jwks.endpoint.refresh.ms" Long = "3600000", ANY, ReadOnly, SECURITY,
        "How long keys are kept, in ms.";
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms" Long = "100", ANY, ReadOnly, SECURITY,
        "First wait after an error, in ms.";
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms" Long = "10000", ANY, ReadOnly, SECURITY, "Longest wait, in ms.";
    "sasl.oauthbearer.token.endpoint.url" String, ANY, ReadOnly, SECURITY, "Where tokens are issued.";
    "sasl.oauthbearer.clock.skew.seconds" Int = "30", ANY, ReadOnly, SECURITY, "Clock difference tolerated, in s.";
    "sasl.oauthbearer.expected.audience" List = "", ANY, ReadOnly, SECURITY, "Audiences accepted.";
    "sasl.oauthbearer.expected.issuer" String, ANY, ReadOnly, SECURITY, "Issuer accepted.";
    "sasl.oauthbearer.allow.unverified.audience" Boolean = "false", ANY, ReadOnly, SECURITY,
        "Whether a token passes without an expected audience.";
    "sasl.oauthbearer.allow.unverified.issuer" Boolean = "false", ANY, ReadOnly, SECURITY,
        "Whether a token passes without an expected issuer.";
    "sasl.oauthbearer.scope.claim.name" String = "scope", ANY, ReadOnly, SECURITY, "Claim that holds the scope.";
    "sasl.oauthbearer.sub.claim.name" String = "sub", ANY, ReadOnly, SECURITY, "Claim that holds the subject.";
    "sasl.oauthbearer.scope" String, ANY, ReadOnly, SECURITY, "Scope asked for with a token.";
    "sasl.oauthbearer.jwt.retriever.class" Class = "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        ANY, ReadOnly, JAVA, "Class that gets tokens.";
    "sasl.oauthbearer.jwt.validator.class" Class = "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        ANY, ReadOnly, JAVA, "Class that checks tokens.";
    "sasl.oauthbearer.client.credentials.client.id" String, ANY, ReadOnly, SECURITY, "Id to get tokens by.";
    "sasl.oauthbearer.client.credentials.client.secret" Password, ANY, ReadOnly, SECURITY,
        "Secret of the client id that asks for tokens.";
    "sasl.oauthbearer.assertion.algorithm" String = "RS256", ANY, ReadOnly, SECURITY,
        "Algorithm that assertions are signed by (KIP-1139).";
    "sasl.oauthbearer.assertion.claim.aud" String, ANY, ReadOnly, SECURITY, "Audience that assertions name.";
    "sasl.oauthbearer.assertion.claim.exp.seconds" Int = "300", ANY, ReadOnly, SECURITY, "How long assertions hold, in s.";
    "sasl.oauthbearer.assertion.claim.iss" String, ANY, ReadOnly, SECURITY, "Issuer that assertions name.";
    "sasl.oauthbearer.assertion.claim.jti.include" Boolean = "false", ANY, ReadOnly, SECURITY,
        "Whether each assertion has an id of its own.";
    "sasl.oauthbearer.assertion.claim.nbf.seconds" Int = "60", ANY, ReadOnly, SECURITY,
        "How long before their making assertions hold already, in s.";
    "sasl.oauthbearer.assertion.claim.sub" String, ANY, ReadOnly, SECURITY, "Subject that assertions name.";
    "sasl.oauthbearer.assertion.file" String, ANY, ReadOnly, SECURITY, "File of an assertion made elsewhere.";
    "sasl.oauthbearer.assertion.private.key.file" String, ANY, ReadOnly, SECURITY, "File of the key that signs assertions.";
    "sasl.oauthbearer.assertion.private.key.passphrase" Password, ANY, ReadOnly, SECURITY, "Passphrase of that key.";
    "sasl.oauthbearer.assertion.template.file" String, ANY, ReadOnly, SECURITY,
        "File with more claims and headers for assertions.";
    "delegation.token.secret.key" Password, ANY, ReadOnly, SECURITY, "Key that signs delegation tokens.";
    "delegation.token.max.lifetime.ms" Long = "604800000", min(1), ReadOnly, SECURITY, "Longest life of a token, in ms.";
    "delegation.token.expiry.time.ms" Long = "86400000", min(1), ReadOnly, SECURITY,
        "Life of a token until it is renewed, in ms.";
    "delegation.token.expiry.check.interval.ms" Long = "3600000", min(1), ReadOnly, SECURITY,
        "Time between two looks for expired tokens, in ms.";
};
