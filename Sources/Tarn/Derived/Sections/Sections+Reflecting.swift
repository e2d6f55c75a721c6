extension SectionedResults: CustomReflectable {
  /// The sections; empty for invalidated results.
  public var customMirror: Mirror { mirrorOfElements }
}

extension ResultsSection: CustomReflectable {
  /// The elements; empty for a deleted section.
  public var customMirror: Mirror { mirrorOfElements }
}
