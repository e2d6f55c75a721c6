/// The rules for every schema in a file, whatever created it.
extension StoreSchema {
  /// A violation, as a sentence that names the class, or nil.
  package var inconsistency: String? {
    var names: Set<String> = []
    for (index, item) in classes.enumerated() {
      guard item.id.rawValue == UInt32(exactly: index) else {
        return "class \(item.name) does not have the id of its position"
      }
      guard !item.name.isEmpty, names.insert(item.name).inserted else {
        return "the class name '\(item.name)' is empty or taken"
      }
      guard !item.name.utf8.contains(0) else {
        return "the name of class \(item.id.rawValue) has a NUL"
      }
      if let problem = item.inconsistency(classCount: classes.count) { return problem }
    }
    return nil
  }
}

extension ClassSchema {
  fileprivate func inconsistency(classCount: Int) -> String? {
    var names: Set<String> = []
    guard columns.count <= Int(UInt16.max) else { return "class \(name) has too many properties" }
    for (index, column) in columns.enumerated() {
      let title = "column \(name).\(column.name)"
      guard column.id.index == index else { return "\(title) does not have the id of its position" }
      guard !column.name.isEmpty else { return "a column of class \(name) has no name" }
      // No program could name it, in arguments or key paths.
      guard !column.name.utf8.contains(0) else {
        return "the name of column \(index) of class \(name) has a NUL"
      }
      guard column.isRemoved || names.insert(column.name).inserted else {
        return "\(title) exists twice"
      }
      guard (column.target != nil) == (column.type == .link) else {
        return "\(title) has a target but is not a link, or the reverse"
      }
      if let target = column.target, Int(target.rawValue) >= classCount {
        return "\(title) points to a class that does not exist"
      }
    }
    if let problem = uniqueRules.lazy.compactMap(inconsistency(ofRule:)).first { return problem }
    guard let primaryKey else { return nil }
    guard primaryKey.index < columns.count, !columns[primaryKey.index].isRemoved else {
      return "the primary key of class \(name) is not among its columns"
    }
    guard !isEmbedded else { return "the embedded class \(name) has a primary key" }
    guard columns[primaryKey.index].collection == .none else {
      return "the primary key of class \(name) is a collection"
    }
    switch columns[primaryKey.index].type {
    case .int, .string, .objectID, .uuid: return nil
    case .bool, .data, .date, .float, .double, .decimal, .link, .any:
      return "the primary key of class \(name) has a type that cannot be a key"
    }
  }

  private func inconsistency(ofRule rule: [ColumnID]) -> String? {
    guard !rule.isEmpty, Set(rule).count == rule.count else {
      return "a unique rule of class \(name) names no column, or one twice"
    }
    for id in rule {
      guard id.index < columns.count, columns[id.index].canBeUnique else {
        return "a unique rule of class \(name) names a column that cannot be in one"
      }
    }
    return nil
  }
}

extension ColumnSchema {
  /// True for a column with single values of an ordered type.
  package var canBeUnique: Bool { !isRemoved && collection == .none && type != .any }
}
