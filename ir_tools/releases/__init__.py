"""What is known of the releases of OpenVINO without running them."""
