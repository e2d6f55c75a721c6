/// The version of Tarn, which its tools have too.
package enum ToolVersion {
  package static let text = "0.1.0"
}
