/// Workloads that the documentation shows together: in one table, and those with a comparison in
/// one chart.
package struct BenchGroup: Sendable {
  /// The name of its marker in the documentation, and of its chart.
  package let name: String
  package let title: String
  package let ids: [String]

  package static let all = [
    BenchGroup(
      name: "writing", title: "Writing",
      ids: [
        "W1", "W1f", "W2a", "W2c", "W2b", "W2g", "W2m", "W2o", "W2r", "W2s", "W2t", "W19", "W19m",
      ]),
    BenchGroup(
      name: "reading", title: "Opening and reading",
      ids: ["W10", "W13", "W3", "W4", "W4a", "W4o", "W4s"]),
    BenchGroup(
      name: "queries", title: "Queries and groups",
      ids: ["W5", "W5n", "W5c", "W5a", "W5q", "W5i", "W5y", "W5r", "W5g", "W5gm"]),
    BenchGroup(
      name: "sorting", title: "Sorting and pages",
      ids: ["W6", "W6n", "W6i", "W6w", "W6p", "W6pk", "W6pf"]),
    BenchGroup(
      name: "observing", title: "Observing",
      ids: [
        "W7", "W7n", "W7r", "W7w", "W7k", "W7kc", "W7l", "W7b", "W7m", "W7q", "W7qx", "W7qn",
        "W7qc",
        "W7qr", "W7qb", "W7g", "W7gm", "W7p", "W7t", "W9", "W9b",
      ]),
    BenchGroup(
      name: "sources", title: "What can be observed",
      ids: [
        "W7xc", "W7xcr", "W7xl", "W7xlr", "W7xf", "W7xfr", "W7xs", "W7xsr", "W7xd", "W7xdr",
        "W7xv", "W7xvr", "W7xg", "W7xgr", "W7xe", "W7xer",
      ]),
    BenchGroup(
      name: "processes", title: "Other processes and actors",
      ids: [
        "W8", "W8b", "W8c", "W8w", "W8t", "W8p", "W8a", "W17", "W17i", "W18", "W18b", "W18c",
        "W18x", "W18xb", "W18xc", "W18u",
      ]),
    BenchGroup(
      name: "collections", title: "Lists, sets and maps",
      ids: ["W11", "W11r", "W11c", "W11a", "W11d", "W11n", "W11i", "W11x", "W11s", "W11m"]),
    BenchGroup(
      name: "feed", title: "Change feeds",
      ids: ["W14", "W14m", "W14o", "W14c", "W14k", "W14q", "W14a", "W14s", "W14p"]),
    BenchGroup(
      name: "daemon", title: "The daemon",
      ids: ["W15", "W15b", "W15l", "W15h", "W15i", "W15m", "W15c"]),
    BenchGroup(
      name: "sync", title: "Beyond one machine",
      ids: [
        "W16", "W16b", "W16u", "W16d", "W16j", "W16n", "W16f", "W16p", "W16i", "W16k", "W16w",
        "W16z", "W16r", "W16rd", "W16v", "W16vd", "W16s", "W16t", "W16x", "W16y", "W16c", "W16q",
        "W16m",
      ]),
  ]

  /// The figures that the README shows.
  package static let eight = BenchGroup(
    name: "eight", title: "Eight figures",
    ids: ["W1", "W2a", "W3", "W4", "W5", "W6", "W7", "W8"])
}
