/// The version of Tarn and its tools.
package enum ToolVersion {
  package static let text = "0.1.0"
}
