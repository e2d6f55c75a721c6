import TarnSync
import ToolSupport

/// A server's status as text.
enum StatusLines {
  static func text(_ status: ServerStatus) -> [String] {
    var classes = TextTable([
      .init("CLASS"), .init("TABLE"), .init("ROWS", .right), .init("SIZE", .right),
      .init("POLICIES"), .init("DEPENDS ON"),
    ])
    for one in status.classes {
      classes.add([
        one.name, one.table, one.rows < 0 ? "?" : "\(one.rows)", sizeText(one.size),
        one.hasPolicies ? "yes" : "no", one.depends.joined(separator: ", "),
      ])
    }
    var replicas = TextTable([
      .init("REPLICA", .right), .init("ROLE"), .init("VERSION", .right), .init("LAST SENT"),
    ])
    for one in status.replicas {
      replicas.add(["\(one.number)", one.role, "\(one.version)", ago(one.idle)])
    }
    return ["PostgreSQL \(status.version), \(status.tombstones) tombstones", ""]
      + lines(classes) + [""] + lines(replicas)
      + (status.warnings + status.columns).flatMap { ["", $0] }
  }

  private static func lines(_ table: TextTable) -> [String] {
    table.text().splitASCII("\n").map(String.init)
  }

  private static func ago(_ seconds: Int) -> String {
    switch seconds {
    case ..<120: "\(seconds) s ago"
    case ..<7_200: "\(seconds / 60) min ago"
    case ..<172_800: "\(seconds / 3_600) h ago"
    default: "\(seconds / 86_400) days ago"
    }
  }
}
