import TarnStore

/// Identifies groups of rows by their parts; equal ones are shared.
struct GroupsName: Hashable {
  let spec: QuerySpec
  /// The property that rows are grouped by, in the file's words; nil for one group of all rows.
  let key: [String]?
  let terms: [AggregateTerm]
}
