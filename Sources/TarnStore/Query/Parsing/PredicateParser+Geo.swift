/// Shapes on the earth, after IN or GEOWITHIN. Places have the longitude first, like the
/// coordinates of an object:
///
///     shape = "GEOBOX" "(" place "," place ")" | "GEOCIRCLE" "(" place "," number ")"
///           | "GEOPOLYGON" "(" ring { "," ring } ")" | "%@"
///     ring  = "{" place { "," place } "}"
///     place = "[" number "," number [ "," number ] "]"
///
/// The corners of a box are its south-west and north-east. The radius of a circle is in radians.
extension PredicateParser {
  /// The operand of IN, or of GEOWITHIN, which needs a shape.
  mutating func container(isGeo: Bool) throws(PredicateSyntaxError) -> Operand {
    let position = start
    if let shape = try shape() {
      if let mistake = shape.mistake { throw lexer.error(at: position, mistake) }
      return .shape(shape)
    }
    guard !isGeo else { throw expected("GEOBOX, GEOCIRCLE, GEOPOLYGON or %@ with a shape") }
    return .values(try list("IN"))
  }

  /// Nil if something else is next.
  private mutating func shape() throws(PredicateSyntaxError) -> GeoShape? {
    if token == .placeholder("@"), let shape = arguments.shape() {
      try advance()
      return shape
    }
    guard case .name(let name) = token else { return nil }
    switch name.uppercased() {
    case "GEOBOX":
      try open()
      let bottomLeft = try place()
      try demand(",", "',' and the north-east corner")
      let topRight = try place()
      try demand(")", "')'")
      return .box(bottomLeft: bottomLeft, topRight: topRight)
    case "GEOCIRCLE":
      try open()
      let center = try place()
      try demand(",", "',' and a radius in radians")
      let radius = try number("a radius in radians")
      try demand(")", "')'")
      return .circle(center: center, radius: radius)
    case "GEOPOLYGON":
      try open()
      var rings = [try ring()]
      while try take(",") { rings.append(try ring()) }
      try demand(")", "',' and a hole, or ')'")
      return .polygon(outer: rings[0], holes: Array(rings.dropFirst()))
    default: return nil
    }
  }

  private mutating func open() throws(PredicateSyntaxError) {
    try advance()
    try demand("(", "'('")
  }

  private mutating func ring() throws(PredicateSyntaxError) -> [GeoPosition] {
    try demand("{", "'{' and the places of a ring")
    var places = [try place()]
    while try take(",") { places.append(try place()) }
    try demand("}", "',' and another place, or '}'")
    return places
  }

  private mutating func place() throws(PredicateSyntaxError) -> GeoPosition {
    let position = start
    try demand("[", "a place such as [-1.8, 51.2]: the longitude, then the latitude")
    let longitude = try number("a longitude")
    try demand(",", "',' and a latitude")
    let latitude = try number("a latitude")
    // The altitude is ignored, but for its sign.
    if try take(","), try number("an altitude") < 0 {
      throw lexer.error(at: position, "the altitude of a place must be 0 or more")
    }
    try demand("]", "']'")
    guard let place = GeoPosition(latitude: latitude, longitude: longitude) else {
      throw lexer.error(
        at: position,
        "a place is a longitude from -180 to 180, then a latitude from -90 to 90")
    }
    return place
  }

  private mutating func number(_ what: String) throws(PredicateSyntaxError) -> Double {
    let position = start
    switch try literal() {
    case .int(let value): return Double(value)
    case .double(let value): return value
    case .float(let value): return Double(value)
    case .decimal(let value): return DecimalNumber(value).nearestDouble
    default: throw lexer.error(at: position, "expected \(what)")
    }
  }
}
