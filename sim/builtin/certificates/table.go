package certificates

// The descriptions of a CertificateSigningRequest's columns are those of the fields in v1beta1.
const (
	csrSignerDoc = "Requested signer for the request. It is a qualified name in the form: `scope-hostname.io/name`. If empty, it will be defaulted:\n" +
		" 1. If it's a kubelet client certificate, it is assigned\n" +
		"    \"kubernetes.io/kube-apiserver-client-kubelet\".\n" +
		" 2. If it's a kubelet serving certificate, it is assigned\n" +
		"    \"kubernetes.io/kubelet-serving\".\n" +
		" 3. Otherwise, it is assigned \"kubernetes.io/legacy-unknown\".\n" +
		"Distribution of trust for signers happens out of band. You can select on this field using `spec.signerName`."
	csrRequestDoc    = "Base64-encoded PKCS#10 CSR data"
	csrExpirationDoc = "expirationSeconds is the requested duration of validity of the issued certificate. The certificate signer may issue a certificate with a different validity duration so a client must check the delta between the notBefore and and notAfter fields in the issued certificate to determine the actual duration.\n" +
		"\n" +
		"The v1.22+ in-tree implementations of the well-known Kubernetes signers will honor this field as long as the requested duration is not greater than the maximum duration they will honor per the --cluster-signing-duration CLI flag to the Kubernetes controller manager.\n" +
		"\n" +
		"Certificate signers may not honor this field for various reasons:\n" +
		"\n" +
		"  1. Old signer that is unaware of the field (such as the in-tree\n" +
		"     implementations prior to v1.22)\n" +
		"  2. Signer whose configured maximum is shorter than the requested duration\n" +
		"  3. Signer whose configured minimum is longer than the requested duration\n" +
		"\n" +
		"The minimum valid value for expirationSeconds is 600, i.e. 10 minutes."
	csrConditionsDoc = "Conditions applied to the request, such as approval or denial."
)
