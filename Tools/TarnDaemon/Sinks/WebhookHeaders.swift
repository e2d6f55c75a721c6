import TarnStore
import ToolSupport

/// The headers of a webhook's requests.
enum WebhookHeaders {
  /// Those that belong to the daemon: a receiver relies on the first two, and the others describe
  /// how the body is sent.
  private static let own = [
    "Idempotency-Key", "Tarn-Signature", "Content-Length", "Transfer-Encoding", "Expect",
  ]

  /// The lines of a request. A configured header replaces ours of the same name.
  static func lines(_ configured: [String], key: String, signature: String?) -> [String] {
    let replaced = configured.map(name)
    let standard = [
      "Content-Type: application/json", "User-Agent: tarn/\(ToolVersion.text)",
      "Idempotency-Key: \(key)",
      // Otherwise the client waits for an answer before it sends a long body.
      "Expect:",
    ]
    return standard.filter { line in !replaced.contains { isSame($0, name(line)) } } + configured
      + (signature.map { ["Tarn-Signature: \($0)"] } ?? [])
  }

  /// What is wrong with a configured line; nil if nothing is.
  static func fault(in line: String) -> String? {
    let name = name(line)
    let isName =
      !name.isEmpty
      && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"()<>@,;:\\\"/[]?={}".utf8.contains($0) }
    guard line.firstASCII(":") != nil, isName,
      !line.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 })
    else { return "needs lines such as 'Name: value', not '\(line)'" }
    return own.contains { isSame($0, name) } ? "'\(name)' is set by the daemon itself" : nil
  }

  private static func name(_ line: String) -> String {
    String(line.partsAroundASCII(":")?.before ?? "")
  }

  /// Names of headers have no case.
  private static func isSame(_ a: String, _ b: String) -> Bool {
    func lowered(_ text: String) -> [UInt8] {
      text.utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
    }
    return lowered(a) == lowered(b)
  }
}
