//! TLS.

use super::keys;
use super::reason::*;
use super::rules::*;
use crate::config::key::ConfigKey;

pub(super) static KEYS: &[ConfigKey] = keys! {
    "ssl.client.auth" String = "none", one_of(&["required", "requested", "none"]), PerBroker, TLS,
        "Whether clients must show a certificate.";
    "ssl.enabled.protocols" List = "TLSv1.2,TLSv1.3", ANY, PerBroker, TLS, "TLS protocols accepted.";
    "ssl.protocol" String = "TLSv1.3", ANY, PerBroker, TLS, "TLS protocol preferred.";
    "ssl.provider" String, ANY, PerBroker, JAVA, "Java's security provider for TLS.";
    "ssl.cipher.suites" List = "", ANY, PerBroker, TLS, "Cipher suites accepted; the usual ones if empty.";
    "ssl.keystore.type" String = "JKS", ANY, PerBroker, TLS, "Format of the key store; PEM is one.";
    "ssl.keystore.location" String, ANY, PerBroker, TLS, "File with key and certificate.";
    "ssl.keystore.password" Password, ANY, PerBroker, TLS, "Password of the key store.";
    "ssl.keystore.key" Password, ANY, PerBroker, TLS, "Private key as PEM.";
    "ssl.keystore.certificate.chain" Password, ANY, PerBroker, TLS, "Certificates as PEM.";
    "ssl.key.password" Password, ANY, PerBroker, TLS, "Password of the private key.";
    "ssl.truststore.type" String = "JKS", ANY, PerBroker, TLS, "Format of the trust store; PEM is one.";
    "ssl.truststore.location" String, ANY, PerBroker, TLS, "File with trusted certificates.";
    "ssl.truststore.password" Password, ANY, PerBroker, TLS, "Password of the trust store.";
    "ssl.truststore.certificates" Password, ANY, PerBroker, TLS, "Trusted certificates as PEM.";
    "ssl.keymanager.algorithm" String = "SunX509", ANY, PerBroker, JAVA, "Algorithm of Java's key manager.";
    "ssl.trustmanager.algorithm" String = "PKIX", ANY, PerBroker, JAVA, "Algorithm of Java's trust manager.";
    "ssl.endpoint.identification.algorithm" String = "https", ANY, PerBroker, TLS,
        "Whether host names are checked; not if empty.";
    "ssl.secure.random.implementation" String, ANY, PerBroker, JAVA, "Java's source of randomness.";
    "ssl.engine.factory.class" Class, ANY, PerBroker, JAVA, "Class that makes TLS engines.";
    "ssl.principal.mapping.rules" String = "DEFAULT", ANY, ReadOnly, TLS, "Rules from certificate names to principals.";
    "ssl.allow.dn.changes" Boolean = "false", ANY, ReadOnly, TLS, "Whether a reload may change the certificate's name.";
    "ssl.allow.san.changes" Boolean = "false", ANY, ReadOnly, TLS,
        "Whether a reload may drop alternative names of the certificate.";
};
