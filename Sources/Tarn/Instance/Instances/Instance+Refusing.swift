import TarnStore

/// Operations that an instance refuses in its present state.
extension Instance {
  /// Traps outside of a write.
  func writing(_ operation: String) -> WriteSession {
    checkThread()
    guard let session, write.isOpen else {
      if isFrozen { trapFrozen("Cannot \(operation) of") }
      trap(
        "Cannot \(operation) outside of a write transaction. Call it inside realm.write { … }.")
    }
    if sectionKeyDepth > 0 { refuseInSectionKey(operation) }
    return session
  }

  /// Traps for an operation that a frozen instance does not support.
  func trapFrozen(_ operation: String) -> Never {
    let version = shownVersion.map { " at version \($0.rawValue)" } ?? ""
    trap(
      "\(operation) a frozen Realm: frozen data of '\(store.path)'\(version) never changes. "
        + "Call thaw() on the object, the collection or the Realm, and use the result.")
  }

  /// Traps in a property observer that is called in the middle of a change.
  func refuseWhileTelling(_ operation: String) {
    require(
      !delivery.isTellingOfProperties,
      "Cannot \(operation) in the observer of a property that is called before a change, while the "
        + "Realm moves to another version, or in the middle of a larger change. Do it later, or "
        + "observe the object: object.observe { change in … }.")
  }

  /// Traps in a block that computes the key of a section.
  func refuseInSectionKey(_ operation: String) {
    require(
      sectionKeyDepth == 0,
      "Cannot \(operation) while section keys are computed: the block given to "
        + "sectioned(by:) may only read.")
  }
}
